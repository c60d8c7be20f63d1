// dsymm
cblas_dsymm(CblasRowMajor, CblasLeft, CblasLower, M, N, alpha, A[0], M, B[0], N, beta, C[0], N);
