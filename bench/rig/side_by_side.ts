type Side = (round: number) => Promise<number>

/** A, B, A, B …: both sides meet the same weather. `warmUp` rounds come first and do not count. */
export async function sideBySide(
  rounds: number,
  sides: { ours: Side; reference: Side },
  warmUp = 1,
): Promise<{ ours: number[]; reference: number[] }> {
  const ours: number[] = []
  const reference: number[] = []
  for (let round = 0; round < rounds + warmUp; round += 1) {
    ours.push(await sides.ours(round))
    reference.push(await sides.reference(round))
  }
  return { ours: ours.slice(warmUp), reference: reference.slice(warmUp) }
}
