// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.tryout;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.gmp4j.bench.measure.JavaCommand;

/**
 * A way to start the service.
 *
 * @param name for people and files
 * @param isOurs whether its virtual threads are goroutines
 * @param flags more flags of its JVM
 */
record Variant(String name, boolean isOurs, List<String> flags) {
    /** What all others are compared with. */
    static final Variant JDK = new Variant("jdk", false, List.of());
    static final Variant GMP4J = new Variant("gmp4j", true, List.of());

    private static final String JAVA = "java";
    private static final String VARIABLE = "JAVA_TOOL_OPTIONS";
    /** A word of flags, or in quotes what may have blanks. */
    private static final Pattern WORD = Pattern.compile("(?:[^\\s'\"]|'[^']*'|\"[^\"]*\")+");
    private static final Pattern FORM = Pattern.compile("([\\w.,+-]+)=(\\s*-.*)", Pattern.DOTALL);

    /** Parses {@code NAME=FLAGS}. Returns null for a text of another form. */
    static Variant parse(String text, boolean isOurs) {
        Matcher form = FORM.matcher(text);
        if (!form.matches()) {
            return null;
        }
        List<String> flags = new ArrayList<>();
        Matcher word = WORD.matcher(form.group(2));
        while (word.find()) {
            flags.add(word.group().replaceAll("['\"]", ""));
        }
        return new Variant(form.group(1), isOurs, List.copyOf(flags));
    }

    /** Returns whether flags can stand in the command itself. */
    static boolean isJava(List<String> service) {
        return Path.of(service.getFirst()).endsWith(JAVA);
    }

    /** Returns all flags that the variant adds. */
    private List<String> all() {
        List<String> all = new ArrayList<>();
        if (isOurs) {
            all.add("-javaagent:" + JavaCommand.runtime() + "=default");
        }
        all.addAll(flags);
        return all;
    }

    /** Returns the service's command for this variant. A {@code java} without a folder is that of the JDK that runs this. */
    List<String> command(List<String> service) {
        if (!isJava(service)) {
            return service;
        }
        String java = service.getFirst();
        List<String> command = new ArrayList<>();
        command.add(java.equals(JAVA) ? Path.of(System.getProperty("java.home"), "bin", JAVA).toString() : java);
        command.addAll(all());
        command.addAll(service.subList(1, service.size()));
        return command;
    }

    /** Returns additional variables of its environment. */
    Map<String, String> environment(List<String> service) {
        if (isJava(service) || all().isEmpty()) {
            return Map.of();
        }
        String old = System.getenv(VARIABLE);
        String flags = all().stream().map(Variant::quoted).collect(Collectors.joining(" "));
        return Map.of(VARIABLE, old == null || old.isBlank() ? flags : old + " " + flags);
    }

    private static String quoted(String flag) {
        return flag.chars().anyMatch(Character::isWhitespace) ? "\"" + flag + "\"" : flag;
    }

    /** Returns, for people, the flags that it adds to the command. */
    String about() {
        return all().isEmpty() ? "the command as it is" : String.join(" ", all());
    }
}
