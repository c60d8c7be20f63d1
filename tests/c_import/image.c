/* Integers and bytes, globals, constants of an enum and of the preprocessor, nested ifs, temporaries, local arrays, choices. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
enum { ROWS = 40, COLUMNS = 56 };
#define BORDER 1
#ifndef GAIN
#define GAIN 3
#endif

double table[ROWS][COLUMNS];
double scale = 0.75;
static const double kOffset = 0.125;

void smooth(int rows, int columns, const uint8_t in[ROWS][COLUMNS], uint8_t out[ROWS][COLUMNS]) {
#pragma scop
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) {
      if (i >= BORDER && i < rows - BORDER) {
        if (j < BORDER || j > columns - 1 - BORDER) {
          out[i][j] = in[i][j];
        } else {
          int sum = in[i][j - 1] + GAIN * in[i][j] + in[i][j + 1];
          sum = (sum + (1 << 1)) / (2 + GAIN);
          out[i][j] = sum > 250 ? 250 : sum;
        }
      } else
        out[i][j] = (uint8_t)(in[i][j] >> 1);
    }
#pragma endscop
}

void transform(int rows, float damping) {
  double line[COLUMNS];
  double peak;
#pragma scop
  for (int i = 0; i < rows; i++) {
    for (int j = 0; j < COLUMNS; j++) line[j] = scale * table[i][j] + kOffset;
    for (int j = 0; j < COLUMNS; j++) {
      peak = fabs(line[j]);
      table[i][j] = exp(-peak) * damping + fmax(line[j], 0.0) + pow(line[j], 2);
    }
  }
#pragma endscop
}

void histogram(long n, int32_t counts[n], int32_t steps[n][n]) {
#pragma scop
  for (long i = n - 1; i > 0; i -= 2) {
    counts[i] += 2;
    counts[i - 1]--;
    for (long j = 0; j <= i; j++) steps[i][j] = counts[j] % 7 - abs(steps[i][j]);
  }
#pragma endscop
}
