// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

import org.gmp4j.bench.library.Load.Figures;

/**
 * What services of frameworks do when their virtual threads are goroutines, beside the same on the JDK's scheduler: in their first seconds,
 * and when they are warm. Each turn starts a new process; the turns go A B B A A B …. Each request sleeps for a millisecond. Prints
 * medians, and the medians of the turns' ratios.
 *
 * <p>{@code mvn -Pfigures -DskipTests verify -Dfigures.main=FrameworkFigures -Dfigures.args="32 4 spring helidon"}: connections, turns,
 * services.
 */
final class FrameworkFigures {
    private static final Duration YOUNG = Duration.ofSeconds(15);
    private static final Duration BETWEEN = Duration.ofSeconds(25);
    private static final Duration WARM = Duration.ofSeconds(10);

    private FrameworkFigures() {
    }

    /** One service's turns on one scheduler. */
    private record Turns(String name, List<Figures> young, List<Figures> warm) {
        Turns(String name) {
            this(name, new ArrayList<>(), new ArrayList<>());
        }

        void take(List<String> command, int connections) throws Exception {
            Load load = new Load("/", connections, "", body -> body);
            try (RunningService s = new RunningService(command)) {
                young.add(load.run(s.process, s.address, YOUNG.toNanos()));
                Figures _ = load.run(s.process, s.address, BETWEEN.toNanos());
                warm.add(load.run(s.process, s.address, WARM.toNanos()));
            }
        }
    }

    /** Measures. */
    public static void main(String[] args) throws Exception {
        int connections = Integer.parseInt(args[0]);
        int turns = Integer.parseInt(args[1]);
        Path folder = Files.createTempDirectory("gmp-figures");
        try {
            OneFlag with = new OneFlag(folder);
            for (int i = 2; i < args.length; i++) {
                measure(FrameworkService.valueOf(args[i].toUpperCase(Locale.ROOT)), with, connections, turns);
            }
        } finally {
            try (Stream<Path> all = Files.walk(folder)) {
                all.sorted(Comparator.reverseOrder()).forEach(p -> p.toFile().delete());
            }
        }
    }

    private static void measure(FrameworkService service, OneFlag with, int connections, int turns) throws Exception {
        FrameworkService plain = service == FrameworkService.WOVEN ? FrameworkService.SPRING : service;
        List<String> ours = OneFlag.java(service.flags(with, ""), service.command(with));
        List<String> theirs = OneFlag.java(List.of(), plain.command(with));
        Turns a = new Turns("gmp4j");
        Turns b = new Turns("JDK");
        for (int i = 0; i < turns; i++) {
            if (i % 2 == 0) {
                a.take(ours, connections);
            }
            b.take(theirs, connections);
            if (i % 2 != 0) {
                a.take(ours, connections);
            }
        }
        System.out.printf("%s, %d connections, %d turns%n%-20s %12s %10s %10s %10s %8s%n", service, connections, turns, "", "requests/s",
                "p50 µs", "p99 µs", "CPU µs", "> 1 s");
        rows("first " + YOUNG.toSeconds() + " s", a, b, Turns::young);
        rows("warm", a, b, Turns::warm);
    }

    private static void rows(String phase, Turns a, Turns b, Function<Turns, List<Figures>> of) {
        List<Figures> ones = Collections.nCopies(of.apply(a).size(), Figures.ONE);
        for (Turns t : List.of(a, b)) {
            row(phase + ", " + t.name, of.apply(t), ones, "%,.0f");
        }
        row(phase + ", ratio", of.apply(a), of.apply(b), "%.2f");
    }

    private static void row(String name, List<Figures> a, List<Figures> b, String format) {
        List<ToDoubleFunction<Figures>> columns =
                List.of(Figures::perSecond, Figures::p50Micros, Figures::p99Micros, Figures::cpuMicros);
        StringBuilder line = new StringBuilder(String.format("%-20s", name));
        int[] width = {12, 10, 10, 10};
        for (int i = 0; i < width.length; i++) {
            line.append(String.format(" %" + width[i] + "s", String.format(format, Figures.ratio(a, b, columns.get(i)))));
        }
        if (b.getFirst() == Figures.ONE) {
            line.append(String.format(" %8.0f", a.stream().mapToDouble(Figures::late).max().orElseThrow()));
        }
        System.out.println(line);
    }
}
