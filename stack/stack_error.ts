/** Something the person who starts Lading can mend: shown as one message, without a stack trace. */
export class StackError extends Error {
  override name = 'StackError'
}
