// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Thousands of classes that others wrote and several compilers compiled. */
class PointCorpusTest {
    /** The JDK's classes: each is, but for its points, what it was. */
    @Tag("long")
    @ParameterizedTest
    @ValueSource(strings = {"java.base", "jdk.compiler", "java.xml", "java.desktop"})
    void jdkModules(String module) throws IOException {
        boolean verify = module.equals("jdk.compiler"); // takes ten times as long
        Path root = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("modules", module);
        List<String> wrong = new ArrayList<>();
        int changed = 0;
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : (Iterable<Path>) files.filter(f -> f.toString().endsWith(".class"))::iterator) {
                changed += check(file.toString(), Files.readAllBytes(file), verify, wrong) ? 1 : 0;
            }
        }
        assertEquals(List.of(), wrong);
        assertTrue(changed > 100, changed + " classes have points");
    }

    private static boolean check(String name, byte[] plain, boolean verify, List<String> wrong) {
        PointScan scan = PointScan.of(plain);
        if (scan.leftAlone() != null) {
            return false;
        }
        byte[] points = PointWriter.write(scan);
        String difference = ClassComparison.difference(plain, points);
        if (difference != null) {
            wrong.add(name + ": " + difference);
        }
        ClassComparison.passedBy(points).forEach(e -> wrong.add(name + ", goes back past its point: " + e));
        if (verify) {
            ClassFile.of().verify(points).forEach(e -> wrong.add(name + ": " + e));
            ClassFile.of().verify(PointWriter.writeAlone(scan)).forEach(e -> wrong.add(name + ", woven: " + e));
        }
        return true;
    }

    /** Libraries, defined and verified by HotSpot itself. */
    @ParameterizedTest
    @ValueSource(classes = {com.tngtech.archunit.ArchConfiguration.class, org.junit.jupiter.api.Test.class,
            org.junit.jupiter.engine.JupiterTestEngine.class, org.junit.platform.commons.JUnitException.class})
    void libraries(Class<?> of) throws IOException {
        CodeSource source = of.getProtectionDomain().getCodeSource();
        Map<String, byte[]> plain = new HashMap<>();
        try (JarFile jar = new JarFile(source.getLocation().getPath())) {
            for (Enumeration<JarEntry> all = jar.entries(); all.hasMoreElements();) {
                JarEntry e = all.nextElement();
                if (e.getName().endsWith(".class") && !e.getName().contains("-")) {
                    plain.put(e.getName().substring(0, e.getName().length() - 6).replace('/', '.'),
                            jar.getInputStream(e).readAllBytes());
                }
            }
        }
        PointLoader without = new PointLoader(of.getClassLoader());
        PointLoader with = new PointLoader(of.getClassLoader());
        List<String> wrong = new ArrayList<>();
        plain.forEach((name, b) -> {
            check(name, b, false, wrong);
            without.add(name, b);
            with.add(name, PointLoader.withPoints(b));
        });
        for (String name : plain.keySet()) {
            String expected = link(without, name);
            String got = link(with, name);
            if (!expected.equals(got)) {
                wrong.add(name + ": " + got);
            }
        }
        assertEquals(List.of(), wrong);
    }

    private static String link(PointLoader loader, String name) {
        try {
            loader.load(name).getDeclaredConstructors(); // links, so verifies
            return "linked";
        } catch (LinkageError e) {
            return e.getClass().getName();
        }
    }

    @Test
    void ourOwnClassesToo() throws IOException {
        List<String> wrong = new ArrayList<>();
        Path classes = Path.of(Agent.class.getProtectionDomain().getCodeSource().getLocation().getPath());
        if (Files.isDirectory(classes)) {
            try (Stream<Path> files = Files.walk(classes)) {
                for (Path file : (Iterable<Path>) files.filter(f -> f.toString().endsWith(".class"))::iterator) {
                    check(file.toString(), Files.readAllBytes(file), true, wrong);
                }
            }
        }
        assertEquals(List.of(), wrong);
    }
}
