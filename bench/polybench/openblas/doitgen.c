// dgemm, not in place
cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, NR * NQ, NP, NP, 1.0, A_given[0][0], NP, C4[0], NP, 0.0, A[0][0], NP);
