// 2 dgemm
cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, NI, NJ, NK, alpha, A[0], NK, B[0], NJ, 0.0, tmp[0], NJ);
cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, NI, NL, NJ, 1.0, tmp[0], NJ, C[0], NL, beta, D[0], NL);
