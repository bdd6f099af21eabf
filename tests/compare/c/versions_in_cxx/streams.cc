#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>

extern "C" int case_stream_number(void);
extern "C" int case_stream_text(void);
extern "C" int case_stream_long_text(void);
extern "C" int case_stream_complaint(void);
extern "C" int case_stream_collected(void);

int case_stream_number(void) {
    int width = 6;
-    int area = width * 7;
+    int area = width + 7;
    std::cout << "the area is " << area << std::endl;
    return 0;
}

int case_stream_text(void) {
    std::string name = "left";
-    name += "-hand";
+    name += "-foot";
    std::cerr << "this is " << name << "\n";
    return 0;
}

int case_stream_complaint(void) {
    int given = 4;
-    int limit = 5;
+    int limit = 3;
    if (given > limit) std::cerr << "over the limit\n";
    return 0;
}

int case_stream_long_text(void) {
    std::string name = "somebody who has a very long name";
-    name += ", and";
+    name += ", or";
    std::cout << name << '\n';
    return 0;
}

static char *copied(const std::string &text) {
    char *copy = static_cast<char *>(std::malloc(text.length() + 1));
    std::strcpy(copy, text.c_str());
    return copy;
}

static std::ostream &operator<<(std::ostream &to, const std::pair<int, int> &place) {
    return to << place.first << ":" << place.second;
}

int case_stream_collected(void) {
-    std::pair<int, int> place(2, 24);
+    std::pair<int, int> place(2, 20);
    std::stringstream told;
    told << "an error which has a long message" << std::endl;
    told << "\tat " << place << "\t" << "in a place with a long name" << std::endl;
    char *text = copied(told.str());
    std::cerr << text;
    std::free(text);
    return 0;
}
