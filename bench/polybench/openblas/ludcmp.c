// dgetrf + dgetrs, rows pivoted
int n = N, one = 1, info;
dgetrf_(&n, &n, A[0], &n, pivots, &info);
memcpy(x, b, sizeof(double) * N);
dgetrs_("T", &n, &one, A[0], &n, pivots, x, &n, &info);
