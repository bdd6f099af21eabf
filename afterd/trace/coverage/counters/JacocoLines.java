// Run by `java` against JaCoCo's core: which lines of which sources the classes below a folder executed.
// JacocoLines EXEC FOLDER prints the class's file, its source's path by its package, and lines as lcov has them.

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jacoco.core.analysis.Analyzer;
import org.jacoco.core.analysis.ICounter;
import org.jacoco.core.analysis.IClassCoverage;
import org.jacoco.core.tools.ExecFileLoader;

public class JacocoLines {
    public static void main(String[] arguments) throws IOException {
        ExecFileLoader executed = new ExecFileLoader();
        executed.load(new File(arguments[0]));
        Analyzer analyzer = new Analyzer(executed.getExecutionDataStore(), JacocoLines::print);
        List<Path> classes;
        try (Stream<Path> below = Files.walk(Path.of(arguments[1]))) {
            classes = below.filter(path -> path.toString().endsWith(".class")).collect(Collectors.toList());
        }
        for (Path path : classes) {
            System.out.println("CLASS:" + path);
            try (InputStream bytes = Files.newInputStream(path)) {
                analyzer.analyzeClass(bytes, path.toString());
            } catch (IOException unread) { // of a Java that is newer than this JaCoCo
                System.out.println("UNREAD:" + unread.getMessage());
            }
        }
    }

    private static void print(IClassCoverage found) {
        if (found.getSourceFileName() == null) {
            return;
        }
        System.out.println("SOURCE:" + found.getPackageName() + "/" + found.getSourceFileName());
        for (int line = found.getFirstLine(); line <= found.getLastLine(); line++) {
            ICounter instructions = found.getLine(line).getInstructionCounter();
            if (instructions.getTotalCount() > 0) {
                System.out.println("DA:" + line + "," + instructions.getCoveredCount());
            }
        }
    }
}
