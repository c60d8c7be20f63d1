// dtrmm
cblas_dtrmm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasUnit, M, N, alpha, A[0], M, B[0], N);
