// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * The agent's argument: {@code default,procs=4,exclude=com.acme.gen.**}. Commas separate the options, and also the parts of some
 * values. A part that does not begin with an option's name belongs to the value before it.
 */
final class AgentOptions {
    static final String DEFAULT = "default";
    private static final List<String> OF_POINTS = List.of("points", "include", "exclude");
    private static final String POINTS = "gmp.points";
    /** The options of the default scheduler. The properties {@code gmp.default.*} have the same names. */
    private static final List<String> OF_DEFAULT = List.of("procs", "spin", "quantum", "affinity", "steal", "realtime", "hugepages",
            "nodequeues", "stalled", "debug", "compilers", "pools");
    private static final List<String> LISTS = List.of("include", "exclude", "affinity");
    private static final String DEBUG = "debug";
    private static final String POOLS = "pools";
    /** An option that {@link Agent} has read already. */
    private static final String FALLBACK = "fallback";
    /** The greatest number of letters that may be wrong, missing or too many in a misspelt option. */
    private static final int MISTYPED = 2;

    private final Map<String, String> points = new LinkedHashMap<>();
    private final Map<String, String> ofDefault = new LinkedHashMap<>();
    private @Nullable String wanted;

    private AgentOptions() {
    }

    /**
     * Reads the argument.
     *
     * @throws IllegalArgumentException with one sentence for the user
     */
    static AgentOptions of(@Nullable String argument) {
        AgentOptions options = new AgentOptions();
        String name = null;
        for (String part : argument == null || argument.isBlank() ? new String[0] : argument.split(",")) {
            int equals = part.indexOf('=');
            String word = name(equals < 0 ? part : part.substring(0, equals));
            if (word.equals(DEFAULT)) {
                name = word;
                options.wanted = equals < 0 ? "on" : part.substring(equals + 1).strip();
            } else if (equals >= 0 && word.equals(FALLBACK)) {
                name = word;
            } else if (equals >= 0 && (OF_POINTS.contains(word) || OF_DEFAULT.contains(word))) {
                name = word;
                String before = options.map(name).put(name, part.substring(equals + 1));
            } else if (name != null && (equals < 0 ? LISTS.contains(name) : name.equals(DEBUG) || isPool(name, word))) {
                String all = options.map(name).merge(name, part, (old, more) -> old + "," + more);
            } else {
                throw new IllegalArgumentException(refusal(word, equals >= 0));
            }
        }
        if (options.wanted == null && !options.ofDefault.isEmpty()) {
            throw new IllegalArgumentException("The agent's option \"%s\" is one of the default scheduler: write default,%1$s=..."
                    .formatted(options.ofDefault.keySet().iterator().next()));
        }
        return options;
    }

    /** Returns whether the part begins another pool of the option {@code pools}: {@code b:match=y*}. */
    private static boolean isPool(String option, String word) {
        return option.equals(POOLS) && word.indexOf(':') > 0;
    }

    private static List<String> known() {
        return Stream.of(List.of(DEFAULT), OF_DEFAULT, OF_POINTS, List.of(FALLBACK)).flatMap(List::stream).toList();
    }

    private static String refusal(String word, boolean hasValue) {
        String nearest = known().stream().min(Comparator.comparing(known -> distance(word, known))).orElseThrow();
        int distance = distance(word, nearest);
        if (distance != 0 && distance <= MISTYPED) {
            return "The agent knows no option \"%s\": is \"%s\" meant?".formatted(word, nearest);
        }
        return hasValue ? "The agent knows no option \"%s\"; it knows %s.".formatted(word, String.join(", ", known()))
                : "The agent's option \"%s\" has no value.".formatted(word);
    }

    /** Returns how many letters have to be inserted, deleted or replaced to change one text into the other. */
    private static int distance(String a, String b) {
        int[] row = IntStream.rangeClosed(0, b.length()).toArray();
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
            }
        }
        return row[b.length()];
    }

    /** Returns the name of an option. An option about points may also be given by the name of its property. */
    private static String name(String text) {
        String name = text.strip();
        return name.equals(POINTS) ? OF_POINTS.getFirst()
                : name.startsWith(POINTS + ".") ? name.substring(POINTS.length() + 1) : name;
    }

    private Map<String, String> map(String name) {
        return OF_POINTS.contains(name) ? points : ofDefault;
    }

    /** Returns whether there are options besides {@code names}. */
    boolean hasOther(String... names) {
        return wanted != null || !List.of(names).containsAll(points.keySet());
    }

    /** Returns whether all virtual threads are to be goroutines. */
    boolean asksForDefault() {
        return wanted != null;
    }

    /** Returns the options about points. */
    Map<String, String> points() {
        return points;
    }

    /**
     * Sets the properties of the default scheduler from their options, and the property {@code gmp.points}, which woven classes read. The
     * options override properties that are set already.
     */
    void setProperties() {
        if (points.containsKey(OF_POINTS.getFirst())) {
            System.setProperty(POINTS, points.get(OF_POINTS.getFirst()).strip());
        }
        if (wanted != null) {
            System.setProperty("gmp.default", wanted);
        }
        ofDefault.forEach((name, value) -> System.setProperty("gmp.default." + name, value));
    }
}
