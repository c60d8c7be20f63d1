int unread(void) { return 1; } /* B[0] = 99; */
#pragma scop
for (int i = 0; i < 3; i++)
  A[i] = 2 * A[i];
#pragma endscop
this is not C and is not read
