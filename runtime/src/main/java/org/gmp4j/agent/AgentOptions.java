// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * The agent's argument: {@code default,procs=4,exclude=com.acme.gen.**}. Commas separate the options, and the parts of
 * some values too: a part that does not begin with an option's name belongs to the value before it.
 */
final class AgentOptions {
    static final String DEFAULT = "default";
    private static final List<String> OF_POINTS = List.of("points", "include", "exclude");
    private static final String POINTS = "gmp.points";
    /** Those of the default scheduler, whose names the properties {@code gmp.default.*} have as well. */
    private static final List<String> OF_DEFAULT = List.of("procs", "spin", "quantum", "affinity", "steal", "realtime", "hugepages",
            "nodequeues", "stalled", "debug", "compilers");
    private static final List<String> LISTS = List.of("include", "exclude", "affinity");
    private static final String DEBUG = "debug";

    private final Map<String, String> points = new LinkedHashMap<>();
    private final Map<String, String> ofDefault = new LinkedHashMap<>();
    private @Nullable String wanted;

    private AgentOptions() {
    }

    /** Throws {@link IllegalArgumentException} with one sentence for the user. */
    static AgentOptions of(@Nullable String argument) {
        AgentOptions options = new AgentOptions();
        String name = null;
        for (String part : argument == null || argument.isBlank() ? new String[0] : argument.split(",")) {
            int equals = part.indexOf('=');
            String word = name(equals < 0 ? part : part.substring(0, equals));
            if (word.equals(DEFAULT)) {
                name = word;
                options.wanted = equals < 0 ? "on" : part.substring(equals + 1).strip();
            } else if (equals >= 0 && (OF_POINTS.contains(word) || OF_DEFAULT.contains(word))) {
                name = word;
                String before = options.map(name).put(name, part.substring(equals + 1));
            } else if (name != null && (equals < 0 ? LISTS.contains(name) : name.equals(DEBUG))) {
                String all = options.map(name).merge(name, part, (old, more) -> old + "," + more);
            } else if (equals < 0) {
                throw new IllegalArgumentException("The agent's option \"%s\" has no value.".formatted(part));
            } else {
                throw new IllegalArgumentException("The agent knows no option \"%s\"; it knows default, %s, %s."
                        .formatted(word, String.join(", ", OF_DEFAULT), String.join(", ", OF_POINTS)));
            }
        }
        if (options.wanted == null && !options.ofDefault.isEmpty()) {
            throw new IllegalArgumentException("The agent's option \"%s\" is one of the default scheduler: write default,%1$s=..."
                    .formatted(options.ofDefault.keySet().iterator().next()));
        }
        return options;
    }

    /** The properties of points may be given under their own names. */
    private static String name(String text) {
        String name = text.strip();
        return name.equals(POINTS) ? OF_POINTS.getFirst()
                : name.startsWith(POINTS + ".") ? name.substring(POINTS.length() + 1) : name;
    }

    private Map<String, String> map(String name) {
        return OF_POINTS.contains(name) ? points : ofDefault;
    }

    /** Whether there are others than these. */
    boolean hasOther(String... names) {
        return wanted != null || !List.of(names).containsAll(points.keySet());
    }

    /** Whether all virtual threads are to be goroutines. */
    boolean asksForDefault() {
        return wanted != null;
    }

    /** Those about points. */
    Map<String, String> points() {
        return points;
    }

    /** Sets the options of the default scheduler, and the one that woven classes read, as properties, which they override. */
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
