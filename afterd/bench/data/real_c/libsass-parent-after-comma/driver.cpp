#include <cstdio>
#include "sass/context.h"

/* Compile a file; its CSS goes to standard output, what is wrong with it to standard error. */
int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    Sass_File_Context *file = sass_make_file_context(argv[1]);
    Sass_Context *context = sass_file_context_get_context(file);
    int status = sass_compile_file_context(file);
    if (status == 0)
        fputs(sass_context_get_output_string(context), stdout);
    else
        fputs(sass_context_get_error_message(context), stderr);
    sass_delete_file_context(file);
    return status;
}
