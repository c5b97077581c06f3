// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.topo;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.gmp4j.affinity.Topology;

/**
 * Machines that are not here: what their kernels would say in /sys and /proc, made from documented layouts. A text beside this
 * class has a line for each file, or for a file of each of several numbers:
 *
 * <pre>
 *  sys/devices/system/cpu/online | 0-3
 *  [0-3] sys/devices/system/cpu/cpu{i}/topology/core_cpus_list | {i%2},{i%2+2}
 *  proc/self/cgroup + another line of the file above
 * </pre>
 *
 * Expressions in braces are computed from left to right, with whole numbers.
 */
public final class Machines {
    /** What they are called. */
    public static final List<String> NAMES = List.of("epyc-2s-nps4", "xeon-4s", "hybrid-laptop", "arm-server", "container-v2",
            "container-v1", "large-16s");

    /** The machines that were read; each has thousands of files. */
    private static final Map<String, Topology> READ = new ConcurrentHashMap<>();

    private static final Pattern LINE = Pattern.compile("(?:\\[(\\S+)\\] )?(\\S+) ([|+]) ?(.*)");
    private static final Pattern BRACES = Pattern.compile("\\{i([^}]*)\\}");
    private static final Pattern STEP = Pattern.compile("([-+*/%])([0-9]+)");

    private Machines() {
    }

    /**
     * Reads one of the recorded machines.
     *
     * @throws IllegalArgumentException if none has the name
     */
    public static Topology read(String name) {
        if (!NAMES.contains(name)) {
            throw new IllegalArgumentException("no recorded machine is called '" + name + "': use one of " + String.join(", ", NAMES));
        }
        return READ.computeIfAbsent(name, Machines::readOnce);
    }

    private static Topology readOnce(String name) {
        try {
            Path folder = Files.createTempDirectory("gmp-machine");
            try {
                expand(name, folder);
                return Topology.recorded(folder);
            } finally {
                delete(folder);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Writes a machine's files below a folder. */
    public static void expand(String name, Path folder) throws IOException {
        try (InputStream in = Machines.class.getResourceAsStream(name + ".machine")) {
            for (String line : new String(in.readAllBytes(), StandardCharsets.UTF_8).split("\n")) {
                if (!line.startsWith("#")) {
                    line(line, folder);
                }
            }
        }
    }

    private static void line(String line, Path folder) throws IOException {
        Matcher m = LINE.matcher(line);
        if (!m.matches()) {
            throw new IllegalArgumentException(line);
        }
        int[] each = m.group(1) == null ? new int[] {0} : numbers(m.group(1));
        for (int i : each) {
            Path file = folder.resolve(fill(m.group(2), i));
            if (!Files.isDirectory(file.getParent())) { // Asked to make one that is there it makes an exception, ten thousand times.
                Files.createDirectories(file.getParent());
            }
            Files.writeString(file, fill(m.group(4), i) + "\n", StandardOpenOption.CREATE,
                    m.group(3).equals("+") ? StandardOpenOption.APPEND : StandardOpenOption.TRUNCATE_EXISTING,
                    StandardOpenOption.WRITE);
        }
    }

    private static int[] numbers(String list) {
        return Stream.of(list.split(",")).map(part -> part.split("-"))
                .flatMapToInt(p -> IntStream.rangeClosed(Integer.parseInt(p[0]), Integer.parseInt(p[p.length - 1]))).toArray();
    }

    private static String fill(String text, int i) {
        return BRACES.matcher(text).replaceAll(braces -> {
            int value = i;
            Matcher step = STEP.matcher(braces.group(1));
            while (step.find()) {
                int n = Integer.parseInt(step.group(2));
                value = switch (step.group(1)) {
                    case "+" -> value + n;
                    case "-" -> value - n;
                    case "*" -> value * n;
                    case "/" -> value / n;
                    default -> value % n;
                };
            }
            return Integer.toString(value);
        });
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }
}
