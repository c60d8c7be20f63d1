// 3 dgemm
cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, NI, NJ, NK, 1.0, A[0], NK, B[0], NJ, 0.0, E[0], NJ);
cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, NJ, NL, NM, 1.0, C[0], NM, D[0], NL, 0.0, F[0], NL);
cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, NI, NL, NJ, 1.0, E[0], NJ, F[0], NL, 0.0, G[0], NL);
