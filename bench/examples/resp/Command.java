// SPDX-License-Identifier: Apache-2.0
package resp;

import java.util.HashMap;
import java.util.Map;

/** What clients may ask for, and with how many arguments, the name among them. */
enum Command {
    PING(1, 2),
    ECHO(2, 2),
    GET(2, 2),
    SET(3, 3),
    DEL(2, Request.MOST_ARGS),
    INCR(2, 2),
    EXPIRE(3, 3),
    MGET(2, Request.MOST_ARGS),
    MSET(3, Request.MOST_ARGS),
    SUBSCRIBE(2, Request.MOST_ARGS),
    UNSUBSCRIBE(1, Request.MOST_ARGS),
    PUBLISH(3, 3),
    INFO(1, Request.MOST_ARGS),
    QUIT(1, Request.MOST_ARGS),
    /** What redis-benchmark and redis-cli ask first. */
    CONFIG(1, Request.MOST_ARGS),
    COMMAND(1, Request.MOST_ARGS);

    private static final Map<Bytes, Command> BY_NAME = new HashMap<>();

    private final int least;
    private final int most;

    static {
        for (Command c : values()) {
            BY_NAME.put(Bytes.of(c.name()), c);
        }
    }

    Command(int least, int most) {
        this.least = least;
        this.most = most;
    }

    /** Null when there is none of that name, in capitals. */
    static Command of(Bytes name) {
        return BY_NAME.get(name);
    }

    boolean takes(int args) {
        return args >= least && args <= most && (this != MSET || args % 2 == 1);
    }

    /** Whether a client that has subscribed may ask for it. */
    boolean besideMessages() {
        return this == SUBSCRIBE || this == UNSUBSCRIBE || this == PING || this == QUIT;
    }
}
