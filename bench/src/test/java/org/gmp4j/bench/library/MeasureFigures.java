// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

import org.gmp4j.bench.ChildJava;
import org.gmp4j.bench.Json;

/**
 * Measures all figures of {@code bench/figures.tsv} on this machine, and writes the tables that come from it. It takes some 40 minutes on
 * two CPUs; nothing else should run.
 *
 * <p>{@code mvn -q -Pfigures -DskipTests verify -Dfigures.main=MeasureFigures -Dfigures.args=FOLDER}. The results of the commands go to
 * FOLDER. A result that is there is not measured again, so that a run can be continued. {@code GMP_GO} says where Go is.
 */
final class MeasureFigures {
    private static final String GMP = Path.of("../gmp").toString();
    private static final String JDK = "jdk";
    private static final String OURS = "gmp4j";
    private static final String NS = "ns";
    private static final String EQUAL = "equal";
    private static final String NEVER = "never";
    /** The services that {@code gmp try} starts, and the requests a second. */
    private static final Map<String, Integer> SERVICES = Map.of("spring", 500, "helidon", 2000);
    /** The head of {@link LibraryFigures}' answer, and the line with our figures divided by the JDK's. */
    private static final Pattern SERVER = Pattern.compile("(\\w+) /, (\\d+) connections\n.*?gmp4j/JDK" + " +([\\d.]+)".repeat(4),
            Pattern.DOTALL);

    private final Path folder;

    private MeasureFigures(Path folder) {
        this.folder = folder;
    }

    /** Measures what the folder lacks, and writes the file and the pages. */
    public static void main(String[] args) throws Exception {
        MeasureFigures figures = new MeasureFigures(Files.createDirectories(Path.of(args[0])).toRealPath());
        figures.measure();
        figures.read().write(FigureTables.FILE);
        FigureTables.write();
    }

    // ---- measuring

    private void measure() throws Exception {
        for (String service : List.of("spring", "helidon")) {
            if (isMissing(service + ".json")) {
                tryOut(service);
            }
        }
        gmp("rings", "steal");
        gmp("ops", "peers", "--peers", "gmp4j,go,jdk", "--forks", "3");
        for (String server : List.of("jetty", JDK)) {
            for (String connections : List.of("32", "256")) {
                server(server, connections);
            }
        }
        gmp("rare", "service", "--runs", "3", "--mix", "rare", "--load", "35", "--quantum", "1000", "--warmup", "12", "--peers", JDK);
        gmp("fixed", "service", "--runs", "3", "--mix", "fixed", "--rate", "2000", "--quantum", "10000", "--warmup", "12", "--peers", JDK);
        gmp("exp", "service", "--runs", "3", "--mix", "exp", "--load", "70", "--quantum", "10000", "--warmup", "12", "--peers", JDK);
    }

    private boolean isMissing(String file) {
        return !Files.exists(folder.resolve(file));
    }

    /** Runs {@code ./gmp} with these words and writes its JSON, if the folder does not have it. */
    private void gmp(String name, String... words) throws Exception {
        if (isMissing(name + ".json")) {
            Path unfinished = folder.resolve(name + ".unfinished");
            List<String> command = new ArrayList<>(List.of(GMP, words[0], "--json=" + unfinished));
            command.addAll(List.of(words).subList(1, words.length));
            run(new ProcessBuilder(command).inheritIO());
            Files.move(unfinished, folder.resolve(name + ".json"));
        }
    }

    private void tryOut(String service) throws Exception {
        OneFlag with = new OneFlag(Files.createTempDirectory(folder, service));
        List<String> words = new ArrayList<>(List.of("try", "--rate", SERVICES.get(service).toString(), "--path", "/hello",
                "--server-cpus", "0", "--client-cpus", "1", "--warmup", "0", "--seconds", "8", "--turns", "5",
                "--with", EQUAL + "=-Dgmp.default.compilers=equal", "--", ChildJava.JAVA));
        words.addAll(FrameworkService.valueOf(service.toUpperCase(Locale.ROOT)).command(with));
        gmp(service, words.toArray(String[]::new));
    }

    private void server(String server, String connections) throws Exception {
        String file = server + connections + ".txt";
        if (isMissing(file)) {
            Path unfinished = folder.resolve(file + ".unfinished");
            List<String> command = new ArrayList<>(List.of(ChildJava.JAVA));
            command.addAll(ChildJava.FLAGS);
            command.addAll(List.of("-cp", System.getProperty("java.class.path"), LibraryFigures.class.getName(), server, "/", connections));
            run(new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).redirectOutput(unfinished.toFile()));
            Files.move(unfinished, folder.resolve(file));
        }
    }

    private static void run(ProcessBuilder command) throws Exception {
        int status = command.start().waitFor();
        if (status != 0) {
            throw new IOException(String.join(" ", command.command()) + " ended with exit code " + status);
        }
    }

    // ---- reading

    private Figure.Run read() throws IOException {
        List<Figure> figures = new ArrayList<>();
        Map<String, Object> ops = json("ops");
        for (Map<String, Object> row : list(ops, "rows")) {
            String name = "ops/" + row.get("work");
            figures.add(new Figure(name, OURS, row.get("unit").toString(), (Double) row.get(OURS)));
            map(row, "ratios").forEach((peer, ratio) -> figures.add(
                    figure(name, OURS + "/" + peer, Figure.RATIO, ratio, map(row, "ratio_intervals").get(peer))));
            map(row, "notes").forEach((peer, note) -> { // A peer whose goroutines never had a turn has a note for a figure.
                if (row.get(peer) == null && note.toString().startsWith(NEVER)) {
                    figures.add(new Figure(name, OURS + "/" + peer, NEVER, 0));
                }
            });
        }
        for (Map<String, Object> ring : list(json("rings"), "rings")) {
            String batch = ring.get("operation").equals("steal") ? " " + ((Double) ring.get("batch")).intValue() : "";
            String name = "ring/" + ring.get("operation") + batch;
            figures.add(new Figure(name, OURS, NS, (Double) ring.get("java_ns")));
            figures.add(new Figure(name, OURS + "/c", Figure.RATIO, (Double) ring.get("ratio")));
        }
        for (String service : List.of("spring", "helidon")) {
            for (Map<String, Object> variant : list(json(service), "variants")) {
                young(figures, service, variant);
            }
        }
        for (String mix : List.of("fixed", "rare", "exp")) {
            for (Map<String, Object> row : list(json(mix), "medians")) {
                load(figures, mix, row);
            }
        }
        for (String server : List.of("jetty32", "jetty256", "jdk32", "jdk256")) {
            figures.addAll(server(Files.readString(folder.resolve(server + ".txt"))));
        }
        return Figure.Run.of(facts(ops), figures);
    }

    /** Returns the figures in an answer of {@link LibraryFigures}. */
    static List<Figure> server(String answer) {
        Matcher m = SERVER.matcher(answer);
        if (!m.find()) {
            throw new IllegalArgumentException("no figures in: " + answer);
        }
        String name = "web/" + m.group(1) + " " + m.group(2) + "/";
        List<String> columns = List.of("requests", "p50", "p99", "cpu");
        return IntStream.range(0, columns.size())
                .mapToObj(i -> new Figure(name + columns.get(i), OURS + "/" + JDK, Figure.RATIO, Double.parseDouble(m.group(i + 3))))
                .toList();
    }

    /** Adds the figures of a variant of {@code gmp try}, and their ratios to the JDK's. */
    private static void young(List<Figure> figures, String service, Map<String, Object> variant) {
        String who = variant.get("name").toString();
        map(variant, "medians").forEach((key, median) -> {
            if (key.startsWith("young_") || key.equals("start_cpu_ns")) {
                String name = service + "/" + key;
                figures.add(figure(name, who, NS, median, map(variant, "intervals").get(key)));
                Object ratio = map(variant, "ratios").get(key);
                if (ratio != null) {
                    figures.add(figure(name, who + "/" + JDK, Figure.RATIO, ratio, map(variant, "ratio_intervals").get(key)));
                }
            }
        });
    }

    /** Adds the figures of a scheduler under a load of {@code gmp service}, and their ratios to the JDK's. */
    private static void load(List<Figure> figures, String mix, Map<String, Object> row) {
        String who = row.get("scheduler").toString();
        for (String key : List.of("p50_ns", "p90_ns", "p99_ns", "cpu_ns_per_request")) {
            String name = mix + "/" + key;
            figures.add(figure(name, who, NS, row.get(key), map(row, "intervals").get(key)));
            if (!who.equals(JDK)) {
                figures.add(figure(name, who + "/" + JDK, Figure.RATIO, map(map(row, "ratios"), JDK).get(key),
                        map(map(row, "ratio_intervals"), JDK).get(key)));
            }
        }
    }

    private static Figure figure(String name, String who, String unit, Object median, Object interval) {
        List<?> ends = (List<?>) interval;
        return new Figure(name, who, unit, (Double) median, (Double) ends.get(0), (Double) ends.get(1));
    }

    private static Map<String, String> facts(Map<String, Object> ops) {
        Map<String, Object> machine = map(ops, "machine");
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("machine", machine.get("cpu") + ", " + ((Double) machine.get("cpus")).intValue() + " CPUs"
                + (Boolean.TRUE.equals(machine.get("virtual")) ? ", virtual" : ""));
        facts.put("system", machine.get("kernel") + " " + machine.get("arch"));
        facts.put("JVM", machine.get("jdk") + ", " + machine.get("gc"));
        facts.put("date", LocalDate.now(ZoneOffset.UTC).toString());
        map(ops, "versions").forEach((peer, version) -> facts.put(peer, version.toString()));
        return facts;
    }

    private Map<String, Object> json(String name) throws IOException {
        return cast(Json.parse(Files.readString(folder.resolve(name + ".json"))));
    }

    private static Map<String, Object> map(Map<String, Object> of, String key) {
        return cast(of.get(key));
    }

    private static List<Map<String, Object>> list(Map<String, Object> of, String key) {
        return ((List<?>) of.get(key)).stream().map(MeasureFigures::cast).toList();
    }

    @SuppressWarnings("unchecked") // Json makes such maps of all objects.
    private static Map<String, Object> cast(Object o) {
        return (Map<String, Object>) o;
    }
}
