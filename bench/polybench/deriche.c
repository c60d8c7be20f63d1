#pragma scop
float alpha = 0.25f;
float k = (1.0f - expf(-alpha)) * (1.0f - expf(-alpha)) / (1.0f + 2.0f * alpha * expf(-alpha) - expf(2.0f * alpha));
float a1 = k;
float a2 = k * expf(-alpha) * (alpha - 1.0f);
float a3 = k * expf(-alpha) * (alpha + 1.0f);
float a4 = -k * expf(-2.0f * alpha);
float b1 = powf(2.0f, -alpha);
float b2 = -expf(-2.0f * alpha);
float ym1;
float ym2;
float xm1;
float xp1;
float xp2;
for (int i = 0; i < W; i++) {
  ym1 = 0.0f;
  ym2 = 0.0f;
  xm1 = 0.0f;
  for (int j = 0; j < H; j++) {
    y1[i][j] = a1 * img[i][j] + a2 * xm1 + b1 * ym1 + b2 * ym2;
    xm1 = img[i][j];
    ym2 = ym1;
    ym1 = y1[i][j];
  }
}
for (int i = 0; i < W; i++) {
  ym1 = 0.0f;
  ym2 = 0.0f;
  xp1 = 0.0f;
  xp2 = 0.0f;
  for (int j = H - 1; j >= 0; j--) {
    y2[i][j] = a3 * xp1 + a4 * xp2 + b1 * ym1 + b2 * ym2;
    xp2 = xp1;
    xp1 = img[i][j];
    ym2 = ym1;
    ym1 = y2[i][j];
  }
}
for (int i = 0; i < W; i++)
  for (int j = 0; j < H; j++)
    out[i][j] = y1[i][j] + y2[i][j];
for (int j = 0; j < H; j++) {
  xm1 = 0.0f;
  ym1 = 0.0f;
  ym2 = 0.0f;
  for (int i = 0; i < W; i++) {
    y1[i][j] = a1 * out[i][j] + a2 * xm1 + b1 * ym1 + b2 * ym2;
    xm1 = out[i][j];
    ym2 = ym1;
    ym1 = y1[i][j];
  }
}
for (int j = 0; j < H; j++) {
  xp1 = 0.0f;
  xp2 = 0.0f;
  ym1 = 0.0f;
  ym2 = 0.0f;
  for (int i = W - 1; i >= 0; i--) {
    y2[i][j] = a3 * xp1 + a4 * xp2 + b1 * ym1 + b2 * ym2;
    xp2 = xp1;
    xp1 = out[i][j];
    ym2 = ym1;
    ym1 = y2[i][j];
  }
}
for (int i = 0; i < W; i++)
  for (int j = 0; j < H; j++)
    out[i][j] = y1[i][j] + y2[i][j];
#pragma endscop
