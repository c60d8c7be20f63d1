// dsyr2k
cblas_dsyr2k(CblasRowMajor, CblasLower, CblasNoTrans, N, M, alpha, A[0], M, B[0], M, beta, C[0], N);
