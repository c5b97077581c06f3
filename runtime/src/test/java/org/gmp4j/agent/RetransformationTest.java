// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.instrument.Instrumentation;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Test;

/** {@link Retransformation}, with a JVM that refuses some classes. */
class RetransformationTest {
    private static final List<Class<?>> ALL = List.of(String.class, Integer.class, Long.class, Short.class, Byte.class, Character.class,
            Boolean.class, Float.class);

    private final List<List<Class<?>>> asked = new ArrayList<>();

    private Instrumentation refusing(Set<Class<?>> refused) {
        return (Instrumentation) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {Instrumentation.class},
                (proxy, method, arguments) -> {
                    List<Class<?>> classes = List.of((Class<?>[]) arguments[0]);
                    asked.add(classes);
                    if (!Collections.disjoint(classes, refused)) {
                        throw new NoClassDefFoundError();
                    }
                    return null;
                });
    }

    @Test
    void allInOnePause() {
        assertEquals(List.of(), Retransformation.of(refusing(Set.of()), ALL));
        assertEquals(List.of(ALL), asked);
        assertEquals(List.of(), Retransformation.of(refusing(Set.of()), List.of()));
    }

    @Test
    void theOthersInFew() {
        assertEquals(List.of(Long.class), Retransformation.of(refusing(Set.of(Long.class)), ALL));
        assertEquals(7, asked.size(), asked.toString());
    }

    @Test
    void eachThatIsRefusedIsNamed() {
        assertEquals(ALL, Retransformation.of(refusing(Set.copyOf(ALL)), ALL));
    }
}
