// dgetrf of the transpose, rows pivoted
// not compared: its unit triangle is the other one
int n = N, info;
dgetrf_(&n, &n, A[0], &n, pivots, &info);
