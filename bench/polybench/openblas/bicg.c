// 2 dgemv
cblas_dgemv(CblasRowMajor, CblasTrans, N, M, 1.0, A[0], M, r, 1, 0.0, s, 1);
cblas_dgemv(CblasRowMajor, CblasNoTrans, N, M, 1.0, A[0], M, p, 1, 0.0, q, 1);
