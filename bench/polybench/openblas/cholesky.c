// dpotrf
int n = N, info;
dpotrf_("U", &n, A[0], &n, &info);
