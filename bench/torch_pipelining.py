#!/usr/bin/env python3
"""Step time of PyTorch's own pipelining beside stagecraft execute: one model, two ranks on two cores, equal micro-batches.

  bench/torch_pipelining.py [--schedule 1f1b|gpipe|zb-h1] [--rounds 5] [--stagecraft build/test/bin/stagecraft]

Runs scenarios/tiny-gpt-2cores.json both ways, interleaved, ranks pinned to a core each with one thread, and prints the
median step times and their ratio. Needs PyTorch with Gloo in this Python, and the built programs. Exit code 1 if
stagecraft's step is the longer one.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCENARIO = ROOT / "scenarios" / "tiny-gpt-2cores.json"
HIDDEN, HEADS, FFN, BLOCKS, VOCABULARY, LENGTH = 256, 4, 1024, 6, 256, 128
MICRO_BATCHES, SEQUENCES = 8, 2
WARMUP, STEPS = 2, 7


def make_stage(rank):
    """The scenario's GPT in torch.nn, its blocks halved over two ranks."""
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention_norm, self.mlp_norm = nn.LayerNorm(HIDDEN), nn.LayerNorm(HIDDEN)
            self.qkv, self.projection = nn.Linear(HIDDEN, 3 * HIDDEN), nn.Linear(HIDDEN, HIDDEN)
            self.up, self.down = nn.Linear(HIDDEN, FFN), nn.Linear(FFN, HIDDEN)
            self.register_buffer("mask", torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1))

        def forward(self, x):
            batch, length, _ = x.shape
            heads = self.qkv(self.attention_norm(x)).view(batch, length, 3, HEADS, HIDDEN // HEADS)
            query, key, value = heads.permute(2, 0, 3, 1, 4)
            scores = (query @ key.transpose(-1, -2)) * (HIDDEN // HEADS) ** -0.5
            scores = scores.masked_fill(self.mask, float("-inf")).softmax(-1)
            x = x + self.projection((scores @ value).transpose(1, 2).reshape(batch, length, HIDDEN))
            return x + self.down(nn.functional.gelu(self.up(self.mlp_norm(x)), approximate="tanh"))

    class First(nn.Module):
        def __init__(self):
            super().__init__()
            self.word, self.position = nn.Embedding(VOCABULARY, HIDDEN), nn.Embedding(LENGTH, HIDDEN)
            self.blocks = nn.Sequential(*[Block() for _ in range(BLOCKS // 2)])

        def forward(self, tokens):
            return self.blocks(self.word(tokens) + self.position(torch.arange(LENGTH)))

    class Last(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.Sequential(*[Block() for _ in range(BLOCKS // 2)])
            self.norm, self.head = nn.LayerNorm(HIDDEN), nn.Linear(HIDDEN, VOCABULARY, bias=False)

        def forward(self, x):
            return self.head(self.norm(self.blocks(x)))

    return First() if rank == 0 else Last()


def run_rank(schedule_name):
    """One rank under PyTorch's env:// rendezvous; rank 0 prints the mean step time as JSON."""
    import torch
    import torch.distributed as dist
    from torch.distributed import pipelining

    rank = int(os.environ["RANK"])
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[rank % len(cores)]})
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    model = make_stage(rank)
    stage = pipelining.PipelineStage(model, rank, 2, torch.device("cpu"))
    schedules = {"gpipe": pipelining.ScheduleGPipe, "1f1b": pipelining.Schedule1F1B,
                 "zb-h1": pipelining.ScheduleInterleavedZeroBubble}

    def loss(output, target):
        return torch.nn.functional.cross_entropy(output.flatten(0, 1), target.flatten())

    multi = schedule_name == "zb-h1"
    schedule = schedules[schedule_name]([stage] if multi else stage, MICRO_BATCHES, loss_fn=loss)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95), weight_decay=0.1)
    tokens = torch.randint(0, VOCABULARY, (MICRO_BATCHES * SEQUENCES, LENGTH + 1),
                           generator=torch.Generator().manual_seed(1))
    begin = 0.0
    for step in range(WARMUP + STEPS):
        if step == WARMUP:
            dist.barrier()
            begin = time.perf_counter()
        optimizer.zero_grad(set_to_none=False)
        if rank == 0:
            schedule.step(tokens[:, :-1].contiguous())
        else:
            schedule.step(target=tokens[:, 1:].contiguous())
        norm = sum(float(p.grad.norm()) ** 2 for p in model.parameters())
        dist.all_reduce(torch.tensor([norm], dtype=torch.float64))
        optimizer.step()
    dist.barrier()
    if rank == 0:
        print(json.dumps({"step_time_s": (time.perf_counter() - begin) / STEPS}))
    dist.destroy_process_group()


def torch_step(schedule, port):
    ranks = []
    for rank in range(2):
        environment = dict(os.environ, RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
        ranks.append(subprocess.Popen([sys.executable, __file__, "--rank", "--schedule", schedule], env=environment,
                                      stdout=subprocess.PIPE if rank == 0 else subprocess.DEVNULL, text=True))
    out, _ = ranks[0].communicate()
    if ranks[0].returncode or ranks[1].wait():
        sys.exit("torch_pipelining: PyTorch's run failed")
    return json.loads(out.splitlines()[-1])["step_time_s"]


def stagecraft_step(program, schedule):
    out = subprocess.run([program, "execute", str(SCENARIO), "--set", f"schedule={schedule}", "--pin", "--warmup",
                          str(WARMUP), "--steps", str(STEPS), "--format", "json"], check=True, stdout=subprocess.PIPE)
    steps = json.loads(out.stdout)["steps"]
    return statistics.mean(step["time_s"] for step in steps if "time_s" in step)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schedule", default="1f1b", choices=["1f1b", "gpipe", "zb-h1"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--stagecraft", default=str(ROOT / "build" / "test" / "bin" / "stagecraft"))
    parser.add_argument("--rank", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.rank:
        return run_rank(arguments.schedule)
    theirs, ours = [], []
    for index in range(arguments.rounds):
        theirs.append(torch_step(arguments.schedule, 29600 + index))
        ours.append(stagecraft_step(arguments.stagecraft, arguments.schedule))
    a, b = statistics.median(theirs), statistics.median(ours)
    print(f"{arguments.schedule}: torch.distributed.pipelining {1e3 * a:.2f} ms, stagecraft {1e3 * b:.2f} ms, "
          f"ratio {b / a:.3f} (median of {arguments.rounds})")
    return 1 if b > a else 0


if __name__ == "__main__":
    sys.exit(main())
