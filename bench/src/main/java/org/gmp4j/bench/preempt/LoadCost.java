// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.preempt;

import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.jar.JarFile;

import org.gmp4j.bench.peers.Estimate;

/**
 * Loading and linking all classes of the jars that this program needs, in fresh JVMs in turns: without a transformer, with
 * one that is called and changes nothing, and with points.
 */
final class LoadCost {
    private LoadCost() {
    }

    /** Runs the JVMs and prints the medians. */
    static void measure(Child child, int runs) throws IOException, InterruptedException {
        child.out().println("class loading, medians of " + runs + " JVMs each");
        List<double[]> plain = new ArrayList<>();
        List<double[]> looked = new ArrayList<>();
        List<double[]> points = new ArrayList<>();
        for (int i = 0; i < runs; i++) {
            plain.add(run(child, false));
            looked.add(run(child, true, "-Dgmp.points.exclude=**"));
            points.add(run(child, true));
        }
        String[] names = {"load", "load and link"};
        for (int i = 0; i < names.length; i++) {
            double without = median(plain, i + 1);
            double unchanged = median(looked, i + 1);
            double with = median(points, i + 1);
            child.out().printf(Locale.ROOT, "  %-44s %.0f classes: %.0f ms, a transformer that does nothing %.0f ms: %+.1f %%, "
                    + "with points %.0f ms: %+.1f %%%n", names[i], plain.getFirst()[0], without, unchanged,
                    (unchanged / without - 1) * 100, with, (with / without - 1) * 100);
        }
    }

    private static double median(List<double[]> runs, int column) {
        return Estimate.median(runs.stream().mapToDouble(r -> r[column]).toArray());
    }

    private static double[] run(Child child, boolean points, String... options) throws IOException, InterruptedException {
        String[] f = child.lines(List.of(options), LoadCost.class, points).getLast().split(" ");
        return new double[] {Double.parseDouble(f[0]), Double.parseDouble(f[1]), Double.parseDouble(f[2])};
    }

    /** Prints how many classes, milliseconds to load them, and to load and link them. */
    public static void main(String[] args) throws IOException {
        List<URL> urls = new ArrayList<>();
        List<String> names = new ArrayList<>();
        for (String jar : System.getProperty("java.class.path").split(File.pathSeparator)) {
            if (!jar.endsWith(".jar")) {
                continue;
            }
            urls.add(Path.of(jar).toUri().toURL());
            try (JarFile file = new JarFile(jar)) {
                file.stream().map(e -> e.getName()).filter(n -> n.endsWith(".class") && n.indexOf('-') < 0)
                        .forEach(n -> names.add(n.substring(0, n.length() - 6).replace('/', '.')));
            }
        }
        try (URLClassLoader loader = new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            long start = System.nanoTime();
            List<Class<?>> classes = new ArrayList<>();
            for (String name : names) {
                try {
                    classes.add(Class.forName(name, false, loader));
                } catch (ClassNotFoundException | LinkageError e) {
                    // It needs something that is not here.
                }
            }
            long loaded = System.nanoTime();
            long methods = 0;
            for (Class<?> c : classes) {
                try {
                    methods += c.getDeclaredMethods().length; // Links the class.
                } catch (LinkageError e) {
                    methods++;
                }
            }
            long linked = System.nanoTime();
            System.out.println(classes.size() + " " + (loaded - start) / 1e6 + " " + (linked - start) / 1e6 + " " + methods);
        }
    }
}
