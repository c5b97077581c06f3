// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.measure;

import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.gmp4j.Gmp;

/** How one of our main classes is started in a JVM of its own. */
public final class JavaCommand {
    private JavaCommand() {
    }

    /** Returns a command with the JDK and the class path of this JVM, and the flags that the runtime needs. It writes UTF-8. */
    public static List<String> of(List<String> options, Class<?> main, List<String> args) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--add-exports=java.base/jdk.internal.vm=ALL-UNNAMED",
                "--add-opens=java.base/java.lang=ALL-UNNAMED",
                "--enable-native-access=ALL-UNNAMED",
                "-Dstdout.encoding=UTF-8"));
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(args);
        return command;
    }

    /** Returns the runtime's jar, which is its agent; before there is one, the folder of its classes. */
    public static String runtime() {
        try {
            return Path.of(Gmp.class.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
