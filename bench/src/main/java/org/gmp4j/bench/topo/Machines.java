// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.topo;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

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

    /** Reads a machine from one file with all of its files: in a folder they take seconds to write and to delete. */
    private static Topology readOnce(String name) {
        try {
            Path zip = Files.createTempFile("gmp-machine", ".zip");
            try {
                try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(zip))) {
                    for (Map.Entry<String, String> file : files(name).entrySet()) {
                        out.putNextEntry(new ZipEntry(file.getKey()));
                        out.write(file.getValue().getBytes(StandardCharsets.UTF_8));
                    }
                }
                // It stays open: a policy that reserves CPUs reads the machine again.
                return Topology.recorded(FileSystems.newFileSystem(zip).getPath("/"));
            } finally {
                Files.delete(zip);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Writes a machine's files below a folder. */
    public static void expand(String name, Path folder) throws IOException {
        for (Map.Entry<String, String> file : files(name).entrySet()) {
            Path path = folder.resolve(file.getKey());
            if (!Files.isDirectory(path.getParent())) { // Asked to make one that is there it makes an exception, ten thousand times.
                Files.createDirectories(path.getParent());
            }
            Files.writeString(path, file.getValue());
        }
    }

    /** Returns the texts of a machine's files, by their paths. */
    private static Map<String, String> files(String name) throws IOException {
        Map<String, String> files = new LinkedHashMap<>();
        try (InputStream in = Machines.class.getResourceAsStream(name + ".machine")) {
            for (String line : new String(in.readAllBytes(), StandardCharsets.UTF_8).split("\n")) {
                if (!line.startsWith("#")) {
                    line(line, files);
                }
            }
        }
        return files;
    }

    private static void line(String line, Map<String, String> files) {
        Matcher m = LINE.matcher(line);
        if (!m.matches()) {
            throw new IllegalArgumentException(line);
        }
        int[] each = m.group(1) == null ? new int[] {0} : numbers(m.group(1));
        for (int i : each) {
            String file = fill(m.group(2), i);
            String before = m.group(3).equals("+") ? files.getOrDefault(file, "") : "";
            files.put(file, before + fill(m.group(4), i) + "\n");
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
}
