#include <array>
#include <cstdio>
#include <map>
#include <string>

extern "C" int case_map(void);
extern "C" int case_constant(void);
extern "C" int case_member(void);
extern "C" int case_constructed(void);

int case_map(void) {
    static const std::map<std::string, int> weights = {
-        {"one", 1},
+        {"one", 10},
        {"two", 2},
-        {"three", 3},
+        {"three", 4},
        {"four", 4},
    };
    std::string key = "three";
    int weight = weights.at(key);
    printf("%d\n", weight);
    return 0;
}

struct Rate { const char *name; int percent; };
static constexpr Rate rates[] = {
-    {"low", 5},
+    {"low", 6},
    {"middle", 10},
};

int case_constant(void) {
    constexpr int low = rates[0].percent;
    int cost = 100 * low;
    printf("%d\n", cost);
    return 0;
}

class Planet {
public:
    struct Moon { char letter; double distance; };
    static const Moon moons[];
};

const Planet::Moon Planet::moons[] {
-    {'a', 1.5},
+    {'a', 2.5},
    {'{', 3.5},
-    {',', 4.5},
+    {',', 5.5},
};

int case_member(void) {
    int at = 2;
    printf("%.1f\n", Planet::moons[at].distance);
    return 0;
}

struct Bound {
    std::array<int, 2> keys;
    bool changed = false;
    constexpr Bound(int first, int second = 0) noexcept : keys{{first, second}} {}
    int first() const { return keys[0]; }
};
struct Bounds {
    std::array<Bound, 3> all;
    int first(int at) const { return all[at].first(); }
};
static Bounds bounds{{{
#ifdef MORE_KEYS
    {9},
#endif
-    {1, 2},
+    {1, 12},
-    {3},
+    {13},
-    {4},
+    {14},
}}};

int case_constructed(void) {
    int at = 1;
    printf("%d\n", bounds.first(at));
    return 0;
}
