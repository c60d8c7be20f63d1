// dsyrk
cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, N, M, alpha, A[0], M, beta, C[0], N);
