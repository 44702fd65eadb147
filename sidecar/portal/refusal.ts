/** Ends the work on a page; it is answered with this status and text instead. */
export class PortalRefusal extends Error {
  override name = 'PortalRefusal'
  readonly status: 400 | 404 | 409

  constructor(status: 400 | 404 | 409, message: string) {
    super(message)
    this.status = status
  }
}

export const notFound = (what: string): PortalRefusal => new PortalRefusal(404, `There is no such ${what}.`)

/** A refusal by the database (`PTxyz` or an input error of a call), for people; undefined for any other error. */
export function refusalOf(error: unknown): PortalRefusal | undefined {
  if (error instanceof PortalRefusal) return error
  if (!(error instanceof Error) || !('code' in error)) return undefined
  if (error.code === 'PT404') return new PortalRefusal(404, error.message)
  if (error.code === 'PT409') return new PortalRefusal(409, error.message)
  if (error.code === 'PT400' || error.code === 'P0001') return new PortalRefusal(400, error.message)
  return undefined
}
