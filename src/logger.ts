/** A pino- or console-shaped logger. Fields come first, as pino takes them; `console` prints both. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** A logger that throws harms nobody. */
export function guardedLogger(logger: Logger | undefined): Logger {
  if (logger === undefined) return SILENT;
  const guard = (level: keyof Logger) => (fields: object, message: string) => {
    // Where a logger fails there is nowhere left to say it.
    try {
      const result: unknown = logger[level](fields, message);
      if (result instanceof Promise) result.catch(() => {});
    } catch {}
  };
  return { debug: guard('debug'), info: guard('info'), warn: guard('warn'), error: guard('error') };
}
