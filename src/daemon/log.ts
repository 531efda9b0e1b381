// What the daemon logs with: constant text, data beside it (house style). wire-daemon.ts gives pino.

export interface Log {
  debug(data: object, message: string): void;
  info(data: object, message: string): void;
  warn(data: object, message: string): void;
  error(data: object, message: string): void;
}
