// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Puts a {@link FrameworkService} into a new folder, and prints the command that starts it: for {@code gmp try}. Spring Boot, Helidon and
 * Jetty answer {@code /hello} with JSON.
 *
 * <p>{@code mvn -q -Pfigures -DskipTests verify -Dfigures.main=FrameworkToTry -Dfigures.args="spring FOLDER"}
 */
final class FrameworkToTry {
    private FrameworkToTry() {
    }

    /** Its name, and the folder. */
    public static void main(String[] args) throws Exception {
        OneFlag with = new OneFlag(Files.createDirectory(Path.of(args[1])).toRealPath());
        List<String> command = new ArrayList<>(List.of("java"));
        command.addAll(FrameworkService.valueOf(args[0].toUpperCase(Locale.ROOT)).command(with));
        System.out.println(String.join(" ", command));
    }
}
