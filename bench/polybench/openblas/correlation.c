// dgemv, dger, dsyrk
for (int i = 0; i < N; i++)
  ones[i] = 1.0;
cblas_dgemv(CblasRowMajor, CblasTrans, N, M, 1.0 / N, data[0], M, ones, 1, 0.0, mean, 1);
cblas_dger(CblasRowMajor, N, M, -1.0, ones, 1, mean, 1, data[0], M);
for (int j = 0; j < M; j++)
  stddev[j] = 0.0;
for (int i = 0; i < N; i++)
  for (int j = 0; j < M; j++)
    stddev[j] += data[i][j] * data[i][j];
for (int j = 0; j < M; j++) {
  stddev[j] = sqrt(stddev[j] / N);
  stddev[j] = 1.0 / (sqrt((double)N) * (stddev[j] <= 0.1 ? 1.0 : stddev[j]));
}
for (int i = 0; i < N; i++)
  for (int j = 0; j < M; j++)
    data[i][j] *= stddev[j];
cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, M, N, 1.0, data[0], M, 0.0, corr[0], M);
mirror(M, corr[0]);
for (int i = 0; i < M; i++)
  corr[i][i] = 1.0;
