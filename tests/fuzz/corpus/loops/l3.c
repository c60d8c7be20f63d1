/* c */ n[0] = n[1] < 3 ? -1 : !n[2] | 0x1f << 2ul; // d
A[0] = max(A[0], 1e3);
int i; for (i = 0; N > i; i = 3 + i) { unsigned int k = i; n[i] *= k; }