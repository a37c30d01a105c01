/** The command or its configuration is wrong, and the message says what and where. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
