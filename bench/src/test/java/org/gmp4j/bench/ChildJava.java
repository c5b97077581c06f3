// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.spi.ToolProvider;

import org.gmp4j.Gmp;
import org.gmp4j.ffi.NativeException;

/** How tests start programs in JVMs of their own. */
public final class ChildJava {
    /** The program {@code java} of this JVM. */
    public static final String JAVA = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    /** The flags that the runtime needs on the class path. */
    public static final List<String> FLAGS = List.of("--add-exports=java.base/jdk.internal.vm=ALL-UNNAMED",
            "--add-opens=java.base/java.lang=ALL-UNNAMED", "--enable-native-access=ALL-UNNAMED");
    /** Options that spare most of the CPU time of a program that runs for a moment. */
    public static final List<String> LIGHT = List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

    private ChildJava() {
    }

    /** Returns the jar or the folder of a class. */
    public static Path place(Class<?> of) {
        try {
            return Path.of(of.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new AssertionError(e);
        }
    }

    /** Returns the class path of the runtime. */
    public static String runtime() {
        return place(Gmp.class) + ":" + place(NativeException.class);
    }

    /** Returns the command of a program, without C2. The words may begin with more options. */
    public static List<String> command(String classPath, String... words) {
        List<String> command = new ArrayList<>(List.of(JAVA));
        command.addAll(FLAGS);
        command.addAll(LIGHT);
        command.addAll(List.of("-cp", classPath));
        command.addAll(List.of(words));
        return command;
    }

    /** Compiles sources. */
    public static void compile(Path classes, List<String> arguments) {
        List<String> all = new ArrayList<>(List.of("-cp", runtime(), "-d", classes.toString()));
        all.addAll(arguments);
        assertEquals(0, ToolProvider.findFirst("javac").orElseThrow().run(System.out, System.err, all.toArray(String[]::new)));
    }
}
