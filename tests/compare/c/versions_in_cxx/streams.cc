#include <iostream>
#include <string>

extern "C" int case_stream_number(void);
extern "C" int case_stream_text(void);
extern "C" int case_stream_long_text(void);
extern "C" int case_stream_complaint(void);

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
