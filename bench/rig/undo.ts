/** What has been started, ended again in reverse order. */
export class Undo {
  readonly #steps: (() => Promise<unknown>)[] = []

  add(step: () => Promise<unknown>): void {
    this.#steps.push(step)
  }

  async all(): Promise<void> {
    for (const step of this.#steps.splice(0).reverse()) await step()
  }
}
