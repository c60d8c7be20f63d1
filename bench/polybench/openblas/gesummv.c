// 2 dgemv
cblas_dgemv(CblasRowMajor, CblasNoTrans, N, N, alpha, A[0], N, x, 1, 0.0, y, 1);
cblas_dgemv(CblasRowMajor, CblasNoTrans, N, N, beta, B[0], N, x, 1, 1.0, y, 1);
