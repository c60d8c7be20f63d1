// 2 dgemv
cblas_dgemv(CblasRowMajor, CblasNoTrans, M, N, 1.0, A[0], N, x, 1, 0.0, tmp, 1);
cblas_dgemv(CblasRowMajor, CblasTrans, M, N, 1.0, A[0], N, tmp, 1, 0.0, y, 1);
