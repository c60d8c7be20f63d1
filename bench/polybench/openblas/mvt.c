// 2 dgemv
cblas_dgemv(CblasRowMajor, CblasNoTrans, N, N, 1.0, A[0], N, y1, 1, 1.0, x1, 1);
cblas_dgemv(CblasRowMajor, CblasTrans, N, N, 1.0, A[0], N, y2, 1, 1.0, x2, 1);
