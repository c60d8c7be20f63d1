// dgemm
cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, NI, NJ, NK, alpha, A[0], NK, B[0], NJ, beta, C[0], NJ);
