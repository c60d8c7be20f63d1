// dtrsv
memcpy(x, b, sizeof(double) * N);
cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, N, L[0], N, x, 1);
