import { Transform } from 'node:stream'

export class BodyTooLarge extends Error {
  override name = 'BodyTooLarge'
}

/** Passes a body of unknown length on until it exceeds the limit; then it fails, so that its end never arrives. */
export const limitBody = (limit: number): Transform => {
  let received = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length
      if (received > limit) done(new BodyTooLarge())
      else done(null, chunk)
    },
  })
}
