// Classes, virtual calls, templates, references, exceptions through frames, destructors, lambdas, std::vector.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace shapes {
struct Shape {
    virtual ~Shape() { living--; }
    virtual int area() const = 0;
    static int living;
};
int Shape::living = 0;
struct Square : Shape {
    explicit Square(int side) : side(side) { living++; }
    int area() const override { return side * side; }
    int side;
};
struct Box : Square {
    Box(int side, int height) : Square(side), height(height) {}
    int area() const override { return Square::area() * height; }
    int height;
};
}  // namespace shapes

template <typename T>
static T largest(const std::vector<T> &of) {
    T best = of.at(0);
    for (const T &one : of)
        if (one > best) best = one;
    return best;
}

static int checked(int value) {
    if (value > 3) throw std::runtime_error("too large");
    return value;
}

static int attempts(int upto) {
    int sum = 0;
    for (int i = 0; i <= upto; i++) {
        try {
            sum += checked(i);
        } catch (const std::exception &error) {
            sum += 100 + (int)std::string(error.what()).size();
        }
    }
    return sum;
}

int main() {
    shapes::Square square(4);
    const shapes::Shape &shape = shapes::Box(3, 5);
    std::vector<int> numbers{3, 1, 4, 1, 5};
    int offset = 10;
    auto shifted = [&offset](int by) { return by + offset++; };
    int total = square.area() + shape.area() + largest(numbers) + shifted(1) + shifted(2);
    try {
        numbers.at(9)++;
    } catch (const std::out_of_range &) {
        total += 1000;
    }
    std::printf("%d %d %d %d\n", total, attempts(5), shapes::Shape::living, offset);
    return offset;
}
