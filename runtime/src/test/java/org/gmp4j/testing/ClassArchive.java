// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.testing;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.sync.WaitGroup;

/**
 * A CDS archive of the classes of the runtime and of the programs that {@link ChildJvm} runs. With it a JVM parses and verifies none of
 * them. {@code ./gmp test} asks for it by a system property, and the first JVM of tests that starts a child makes it. The JVM archives only
 * classes from jars, so a jar takes the place of each folder of the class path.
 *
 * @param file the archive, which is empty if the JVM could not make it
 * @param classPath the class path that it fits
 */
record ClassArchive(Path file, String classPath) {
    static final boolean WANTED = Boolean.getBoolean("gmp.test.archive");
    private static final Path FOLDER = Path.of("target", "child-classes").toAbsolutePath();
    private static final Path VERSION = FOLDER.resolve("version");
    private static ClassArchive found;

    /** Returns the archive; null when it is not wanted, cannot be made, or another JVM makes it at this time. */
    static synchronized ClassArchive get() throws IOException, InterruptedException {
        if (WANTED && found == null) {
            found = find();
        }
        return found == null || Files.size(found.file) == 0 ? null : found;
    }

    /** Returns whether a JVM has tried to make the archive in vain. */
    static synchronized boolean couldNotBeMade() throws IOException {
        return found != null && Files.size(found.file) == 0;
    }

    private static ClassArchive find() throws IOException, InterruptedException {
        String[] entries = System.getProperty("java.class.path").split(":");
        List<String> path = new ArrayList<>();
        for (int i = 0; i < entries.length; i++) {
            path.add(Files.isDirectory(Path.of(entries[i])) ? FOLDER.resolve(i + ".jar").toString() : entries[i]);
        }
        ClassArchive archive = new ClassArchive(FOLDER.resolve("classes.jsa"), String.join(":", path));
        String version = version(entries);
        if (isOf(version)) {
            return archive;
        }
        Path folder = Files.createDirectories(FOLDER);
        try (FileChannel c = FileChannel.open(folder.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock lock = c.tryLock()) {
            if (lock == null) {
                return null;
            }
            if (!isOf(version)) {
                archive.make(entries, path);
                Path _ = Files.writeString(VERSION, version);
            }
            return archive;
        }
    }

    private static boolean isOf(String version) throws IOException {
        return Files.exists(VERSION) && Files.readString(VERSION).equals(version);
    }

    /** Returns a text that changes with each file of the class path. */
    private static String version(String[] entries) throws IOException {
        long sum = 0;
        for (String entry : entries) {
            try (Stream<Path> files = Files.walk(Path.of(entry))) {
                for (Path p : (Iterable<Path>) files::iterator) {
                    sum += 31L * p.hashCode() + Files.getLastModifiedTime(p).toMillis(); // They come in any order.
                }
            }
        }
        return System.getProperty("java.home") + " " + Long.toHexString(sum);
    }

    private void make(String[] entries, List<String> path) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(ChildJvm.JAVA));
        command.addAll(ChildJvm.FLAGS);
        boolean _ = Files.deleteIfExists(file);
        command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:ArchiveClassesAtExit=" + file, "-cp", classPath,
                ClassArchive.class.getName()));
        for (int i = 0; i < entries.length; i++) {
            if (!path.get(i).equals(entries[i])) {
                pack(Path.of(entries[i]), Path.of(path.get(i)));
                command.add(path.get(i));
            }
        }
        int exit = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(FOLDER.resolve("log").toFile()).start().waitFor();
        if (exit != 0 || Files.notExists(file)) {
            Path _ = Files.write(file, new byte[0]); // No JVM of tests tries again.
        }
    }

    private static void pack(Path folder, Path jar) throws IOException {
        try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(jar)); Stream<Path> files = Files.walk(folder)) {
            out.setLevel(0);
            for (Path p : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
                out.putNextEntry(new ZipEntry(folder.relativize(p).toString()));
                long _ = Files.copy(p, out);
            }
        }
    }

    /** The program from which the archive is made: it loads the classes of the jars that its arguments name, and runs some goroutines. */
    public static void main(String[] jars) throws IOException {
        for (String jar : jars) {
            try (JarFile file = new JarFile(jar)) {
                file.stream().map(ZipEntry::getName).filter(ClassArchive::isUsed)
                        .forEach(name -> load(name.substring(0, name.lastIndexOf('.')).replace('/', '.')));
            }
        }
        Gmp.main(() -> {
            Chan<Integer> results = Chan.make(1);
            WaitGroup all = new WaitGroup();
            for (int i = 0; i < 100; i++) {
                all.go(() -> results.send(1));
            }
            for (int i = 0; i < 100; i++) {
                results.recv();
            }
            all.await();
            Go.sleep(Duration.ofMillis(1));
        });
    }

    private static boolean isUsed(String name) {
        return name.startsWith("org/gmp4j/") && name.endsWith(".class") && !name.endsWith("Test.class");
    }

    private static void load(String name) {
        try {
            Class<?> _ = Class.forName(name, false, ClassArchive.class.getClassLoader());
        } catch (ClassNotFoundException | LinkageError e) {
            System.out.println(name + ": " + e); // An optional library is not there.
        }
    }
}
