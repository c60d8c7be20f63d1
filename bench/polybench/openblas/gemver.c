// 2 dger, daxpy, 2 dgemv
cblas_dger(CblasRowMajor, N, N, 1.0, u1, 1, v1, 1, A[0], N);
cblas_dger(CblasRowMajor, N, N, 1.0, u2, 1, v2, 1, A[0], N);
cblas_dgemv(CblasRowMajor, CblasTrans, N, N, beta, A[0], N, y, 1, 1.0, x, 1);
cblas_daxpy(N, 1.0, z, 1, x, 1);
cblas_dgemv(CblasRowMajor, CblasNoTrans, N, N, alpha, A[0], N, x, 1, 1.0, w, 1);
