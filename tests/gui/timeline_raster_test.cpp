// Rows of slices as pixels: what a row's colours add up to is what the row adds up to.
#include <array>
#include <catch2/catch.hpp>
#include <vector>

#include "gui/timeline/row_raster.hpp"
#include "trace/level_of_detail_columns.hpp"

using namespace stagecraft;
using namespace stagecraft::gui;

namespace {

struct Picture {
  int columns, height;
  std::vector<QRgb> pixels;

  Picture(int columns_, int height_)
      : columns(columns_), height(height_), pixels(static_cast<std::size_t>(columns_ * height_), 0xff123456) {}
  RowTarget target() { return {pixels.data(), columns, 0, 0, height, 0, height}; }
  QRgb at(int x, int y) const { return pixels[static_cast<std::size_t>(y * columns + x)]; }
};

/// The class whose time is measured is red, every other one blue; gaps are black.
RowColors red_is(SliceClass kind) {
  RowColors colors;
  colors.fill.fill(qRgb(0, 0, 255));
  colors.fill[static_cast<std::size_t>(kind)] = qRgb(255, 0, 0);
  colors.hatch = colors.fill;
  colors.gap = qRgb(0, 0, 0);
  return colors;
}

/// Time that a channel of the colours stands for: of every column its part of the height, times its width.
double time_of(const Picture& picture, const std::vector<std::int64_t>& bounds, int (*channel)(QRgb)) {
  double sum = 0;
  for (int x = 0; x < picture.columns; ++x) {
    double column = 0;
    for (int y = 0; y < picture.height; ++y) column += channel(picture.at(x, y)) / 255.0;
    const auto k = static_cast<std::size_t>(x);
    sum += column / picture.height * static_cast<double>(bounds[k + 1] - bounds[k]);
  }
  return sum;
}

/// Slices of uneven lengths of `classes` classes in turn, some set apart, some with a part of tensor communication.
SliceRow uneven_row(int n, int classes, bool tensor) {
  SliceRow row;
  std::int64_t time = 50;
  for (int i = 0; i < n; ++i) {
    const std::int64_t length = 1000 * (1 + (i * 37) % 23);
    const auto kind = static_cast<SliceClass>((i * 5 + i / 7) % classes);
    row.append({time, time + length, tensor && i % 3 == 0 ? length / 4 : 0, kind, static_cast<std::uint32_t>(i)});
    time += length + (i % 4 == 0 ? 3000 : 0);
  }
  return row;
}

}  // namespace

TEST_CASE("the colours of a row add up to its breakdown, at every zoom and height") {
  const int classes = GENERATE(5, 15);  // few enough to be summed eight at once, and more
  const bool tensor = GENERATE(false, true);
  const SliceRow row = uneven_row(3000, classes, tensor);
  const auto length = static_cast<double>(row.end_ns(row.size() - 1) + 50);
  for (const int height : {1, 3, 11, 24, 300}) {
    for (const double part : {1.0, 0.3, 0.02, 0.001}) {
      Picture picture(700, height);
      const std::vector<std::int64_t> bounds = column_bounds(0.4 * (1 - part) * length, part * length / 700, 700);
      const TimeByClass expected = row.between(bounds.front(), bounds.back());
      const auto shown = static_cast<double>(bounds.back() - bounds.front());
      for (int k = 0; k < classes; ++k) {
        CAPTURE(classes, tensor, height, part, k);
        raster_row(picture.target(), row, bounds, red_is(static_cast<SliceClass>(k)), {});
        // A pixel is rounded to 1/255 of a colour and a boundary to 1/256 of a pixel; long slices to whole pixels and
        // set off from the one before by a darker column.
        const double margin = shown * (part >= 0.3 ? 0.003 : tensor ? 0.03 + 0.5 / height : 0.02);
        CHECK(time_of(picture, bounds, [](QRgb c) { return qRed(c); }) ==
              Approx(static_cast<double>(expected[static_cast<std::size_t>(k)])).margin(margin));
      }
      const double idle = shown - static_cast<double>(total(expected));
      const double painted = time_of(picture, bounds, [](QRgb c) { return qRed(c) + qBlue(c); });
      if (part >= 0.3) CHECK(shown - painted == Approx(idle).margin(shown * 0.003));
    }
  }
}

TEST_CASE("the mean of rows has the colours of their mean breakdown") {
  const SliceRow a = uneven_row(2000, 4, false), b = uneven_row(700, 15, true);
  const auto length = static_cast<double>(a.end_ns(a.size() - 1));
  const std::vector<std::int64_t> bounds = column_bounds(0, length / 500, 500);
  for (int k = 0; k < 15; ++k) {
    Picture picture(500, 16);
    raster_mean(picture.target(), {&a, &b}, bounds, red_is(static_cast<SliceClass>(k)));
    const auto at = static_cast<std::size_t>(k);
    const TimeByClass first = a.between(bounds.front(), bounds.back()),
                      second = b.between(bounds.front(), bounds.back());
    CAPTURE(k);
    CHECK(time_of(picture, bounds, [](QRgb c) { return qRed(c); }) ==
          Approx(static_cast<double>(first[at] + second[at]) / 2).margin(0.003 * length));
  }
}

TEST_CASE("a row that is clipped has the pixels of the whole one, and no others are touched") {
  const SliceRow row = uneven_row(900, 6, true);
  RowColors colors = red_is(SliceClass::forward);
  colors.hatch[static_cast<std::size_t>(SliceClass::backward)] = qRgb(0, 255, 0);
  const std::vector<std::int64_t> bounds = column_bounds(0, static_cast<double>(row.end_ns(row.size() - 1)) / 333, 333);
  Picture whole(333, 200), part(333, 200);
  raster_row(whole.target(), row, bounds, colors, {});
  RowTarget clipped = part.target();
  clipped.clip_top = 40;
  clipped.clip_bottom = 61;
  raster_row(clipped, row, bounds, colors, {});
  bool same = true, untouched = true;
  for (int y = 0; y < 200; ++y) {
    for (int x = 0; x < 333; ++x) {
      if (y >= 40 && y < 61) {
        same = same && part.at(x, y) == whole.at(x, y);
      } else {
        untouched = untouched && part.at(x, y) == 0xff123456;
      }
    }
  }
  CHECK(same);
  CHECK(untouched);
}

TEST_CASE("a class is hatched only where pixels are wholly its own") {
  // Two columns of 4 pixels. The first is three quarters idle: its upper three pixels are hatched by their place, the
  // lowest is work. In the second, idle time has 5/8: two whole pixels and a half, which is a mean.
  SliceRow row;
  row.append({0, 100, 0, SliceClass::forward, 0});
  row.append({100, 400, 0, SliceClass::other, no_span});
  row.append({400, 550, 0, SliceClass::forward, 1});
  row.append({550, 800, 0, SliceClass::other, no_span});
  RowColors colors = red_is(SliceClass::forward);
  colors.hatch[static_cast<std::size_t>(SliceClass::other)] = qRgb(0, 255, 0);
  colors.hatch_period = 2;
  colors.hatch_line = 1;
  Picture picture(2, 4);
  raster_row(picture.target(), row, column_bounds(0, 400, 2), colors, {});
  const QRgb work = qRgb(255, 0, 0), idle = qRgb(0, 0, 255), line = qRgb(0, 255, 0);
  const std::array<std::array<QRgb, 2>, 4> expected = {
      {{line, idle}, {idle, line}, {line, qRgb(128, 0, 128)}, {work, work}}};
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 2; ++x) {
      CAPTURE(x, y);
      CHECK(picture.at(x, y) == expected[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)]);
    }
  }
}
