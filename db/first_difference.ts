const shown = 8

/** The first lines in which two texts differ, or nothing. */
export function firstDifference(was: string, is: string): string | undefined {
  if (was === is) return undefined
  const [before, after] = [was.split('\n'), is.split('\n')]
  const line = before.findIndex((text, index) => text !== after[index])
  const start = line < 0 ? before.length : line
  return [
    `from line ${start + 1} on:`,
    ...before.slice(start, start + shown).map((text) => `- ${text}`),
    ...after.slice(start, start + shown).map((text) => `+ ${text}`),
  ].join('\n')
}
