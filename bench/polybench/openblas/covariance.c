// dgemv, dger, dsyrk
for (int i = 0; i < N; i++)
  ones[i] = 1.0;
cblas_dgemv(CblasRowMajor, CblasTrans, N, M, 1.0 / N, data[0], M, ones, 1, 0.0, mean, 1);
cblas_dger(CblasRowMajor, N, M, -1.0, ones, 1, mean, 1, data[0], M);
cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, M, N, 1.0 / (N - 1.0), data[0], M, 0.0, cov[0], M);
mirror(M, cov[0]);
