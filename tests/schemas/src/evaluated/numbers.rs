//! Numbers.

#![allow(clippy::all)]

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::types::{Level, Named, PORT, Point};

const LOOKUP: &[u32] = &[7, 8];
static STATIC: u32 = 5 * 5;
mod nested {
    pub mod deep {
        pub const VALUE: u32 = super::super::LOOKUP[1] + 1;
    }
}
fn sum_of(a: i32, b: i32) -> i32 {
    a + b
}
fn twice(f: impl Fn(i32) -> i32) -> i32 {
    f(f(1))
}
fn generic<T>(value: T) -> T {
    value
}
fn made<T: Default>() -> T {
    T::default()
}
fn fold_all(items: &[i32]) -> i32 {
    items.iter().fold(10, |sum, it| sum + it)
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "evaluated.example.com", version = "v1", kind = "Numbers")]
pub struct NumbersSpec {
    #[serde(default = "f0")]
    pub f0: u32,
    #[serde(default = "f1")]
    pub f1: u64,
    #[serde(default = "f2")]
    pub f2: i32,
    #[serde(default = "f3")]
    pub f3: u8,
    #[serde(default = "f4")]
    pub f4: i8,
    #[serde(default = "f5")]
    pub f5: u16,
    #[serde(default = "f6")]
    pub f6: u16,
    #[serde(default = "f7")]
    pub f7: i64,
    #[serde(default = "f8")]
    pub f8: u32,
    #[serde(default = "f9")]
    pub f9: u32,
    #[serde(default = "f10")]
    pub f10: usize,
    #[serde(default = "f11")]
    pub f11: usize,
    #[serde(default = "f12")]
    pub f12: u32,
    #[serde(default = "f13")]
    pub f13: i32,
    #[serde(default = "f14")]
    pub f14: i32,
    #[serde(default = "f15")]
    pub f15: i32,
    #[serde(default = "f16")]
    pub f16: i32,
    #[serde(default = "f17")]
    pub f17: u32,
    #[serde(default = "f18")]
    pub f18: u32,
    #[serde(default = "f19")]
    pub f19: u32,
    #[serde(default = "f20")]
    pub f20: i64,
    #[serde(default = "f21")]
    pub f21: u8,
    #[serde(default = "f22")]
    pub f22: i32,
    #[serde(default = "f23")]
    pub f23: f64,
    #[serde(default = "f24")]
    pub f24: f32,
    #[serde(default = "f25")]
    pub f25: f64,
    #[serde(default = "f26")]
    pub f26: f32,
    #[serde(default = "f27")]
    pub f27: f64,
    #[serde(default = "f28")]
    pub f28: f64,
    #[serde(default = "f29")]
    pub f29: u64,
    #[serde(default = "f30")]
    pub f30: u64,
    #[serde(default = "f31")]
    pub f31: u8,
    #[serde(default = "f32")]
    pub f32: u8,
    #[serde(default = "f33")]
    pub f33: u32,
    #[serde(default = "f34")]
    pub f34: u32,
    #[serde(default = "f35")]
    pub f35: u8,
    #[serde(default = "f36")]
    pub f36: u8,
    #[serde(default = "f37")]
    pub f37: i32,
    #[serde(default = "f38")]
    pub f38: i32,
    #[serde(default = "f39")]
    pub f39: i32,
    #[serde(default = "f40")]
    pub f40: u64,
    #[serde(default = "f41")]
    pub f41: u64,
    #[serde(default = "f42")]
    pub f42: i32,
    #[serde(default = "f43")]
    pub f43: i32,
    #[serde(default = "f44")]
    pub f44: u64,
    #[serde(default = "f45")]
    pub f45: i32,
    #[serde(default = "f46")]
    pub f46: i32,
    #[serde(default = "f47")]
    pub f47: i32,
    #[serde(default = "f48")]
    pub f48: i32,
    #[serde(default = "f49")]
    pub f49: i32,
    #[serde(default = "f50")]
    pub f50: i32,
    #[serde(default = "f51")]
    pub f51: bool,
    #[serde(default = "f52")]
    pub f52: bool,
    #[serde(default = "f53")]
    pub f53: bool,
    #[serde(default = "f54")]
    pub f54: bool,
    #[serde(default = "f55")]
    pub f55: i32,
    #[serde(default = "f56")]
    pub f56: u8,
    #[serde(default = "f57")]
    pub f57: u8,
    #[serde(default = "f58")]
    pub f58: u8,
    #[serde(default = "f59")]
    pub f59: u32,
    #[serde(default = "f60")]
    pub f60: u32,
    #[serde(default = "f61")]
    pub f61: i32,
    #[serde(default = "f62")]
    pub f62: i32,
    #[serde(default = "f63")]
    pub f63: usize,
    #[serde(default = "f64")]
    pub f64: i32,
    #[serde(default = "f65")]
    pub f65: u8,
    #[serde(default = "f66")]
    pub f66: i64,
    #[serde(default = "f67")]
    pub f67: i64,
    #[serde(default = "f68")]
    pub f68: u16,
    #[serde(default = "f69")]
    pub f69: u16,
    #[serde(default = "f70")]
    pub f70: char,
    #[serde(default = "f71")]
    pub f71: char,
    #[serde(default = "f72")]
    pub f72: f64,
    #[serde(default = "f73")]
    pub f73: u32,
    #[serde(default = "f74")]
    pub f74: i64,
    #[serde(default = "f75")]
    pub f75: u32,
    #[serde(default = "f76")]
    pub f76: u32,
    #[serde(default = "f77")]
    pub f77: i32,
    #[serde(default = "f78")]
    pub f78: i32,
    #[serde(default = "f79")]
    pub f79: i32,
    #[serde(default = "f80")]
    pub f80: u32,
    #[serde(default = "f81")]
    pub f81: u8,
    #[serde(default = "f82")]
    pub f82: u32,
}

fn f0() -> u32 {
    60 * 60
}
fn f1() -> u64 {
    let hours = 24;
    hours * 3600
}
fn f2() -> i32 {
    -(5 + 3) % 4
}
fn f3() -> u8 {
    255
}
fn f4() -> i8 {
    -128
}
fn f5() -> u16 {
    PORT + 1
}
fn f6() -> u16 {
    Point::LIMIT
}
fn f7() -> i64 {
    (1 << 20) - 1
}
fn f8() -> u32 {
    0xff & 0x0f | 0x30 ^ 1
}
fn f9() -> u32 {
    1_000_000 / 7
}
fn f10() -> usize {
    "hello".len()
}
fn f11() -> usize {
    [1, 2, 3].len() + vec![0u8; 4].len()
}
fn f12() -> u32 {
    if PORT > 80 { 1 } else { 2 }
}
fn f13() -> i32 {
    match PORT {
        0..=79 => 1,
        80 | 443 => 2,
        _ => 3,
    }
}
fn f14() -> i32 {
    let mut total = 0;
    for x in [1, 2, 3] {
        total += x;
    }
    total
}
fn f15() -> i32 {
    let mut x = 1;
    while x < 100 {
        x *= 2;
    }
    x
}
fn f16() -> i32 {
    let mut x = 0;
    let found = loop {
        x += 3;
        if x % 7 == 0 {
            break x;
        }
    };
    found
}
fn f17() -> u32 {
    (1..=5).sum()
}
fn f18() -> u32 {
    (1..4).product::<u32>()
}
fn f19() -> u32 {
    "42".parse().unwrap()
}
fn f20() -> i64 {
    "-7".parse::<i64>().expect("a number")
}
fn f21() -> u8 {
    300u16 as u8
}
fn f22() -> i32 {
    3.9 as i32
}
fn f23() -> f64 {
    1 as f64 / 3 as f64
}
fn f24() -> f32 {
    0.1 + 0.2
}
fn f25() -> f64 {
    0.1 + 0.2
}
fn f26() -> f32 {
    0.1f64 as f32
}
fn f27() -> f64 {
    f64::from(0.1f32)
}
fn f28() -> f64 {
    f64::from(3)
}
fn f29() -> u64 {
    u64::from(PORT) * 2
}
fn f30() -> u64 {
    PORT.into()
}
fn f31() -> u8 {
    u8::try_from(200i32).unwrap_or(7)
}
fn f32() -> u8 {
    u8::try_from(300i32).unwrap_or(7)
}
fn f33() -> u32 {
    10u32.pow(3)
}
fn f34() -> u32 {
    3u32.saturating_sub(5)
}
fn f35() -> u8 {
    250u8.wrapping_add(10)
}
fn f36() -> u8 {
    250u8.checked_add(10).unwrap_or(u8::MAX)
}
fn f37() -> i32 {
    (-5i32).abs()
}
fn f38() -> i32 {
    5.max(3).min(4)
}
fn f39() -> i32 {
    7i32.clamp(1, 5)
}
fn f40() -> u64 {
    std::time::Duration::from_secs(90).as_secs()
}
fn f41() -> u64 {
    std::time::Duration::from_millis(1500).as_millis() as u64
}
fn f42() -> i32 {
    sum_of(2, 3)
}
fn f43() -> i32 {
    twice(|x| x + 1)
}
fn f44() -> u64 {
    const HOUR: u64 = 3600;
    HOUR * 2
}
fn f45() -> i32 {
    let (a, b) = (3, 4);
    a * b
}
fn f46() -> i32 {
    let [a, .., c] = [1, 2, 3];
    a + c
}
fn f47() -> i32 {
    let Point { x, y } = Point { x: 5, ..Point::new(1, 2) };
    x + y
}
fn f48() -> i32 {
    Point::new(3, 4).dot(&Point::new(1, 2))
}
fn f49() -> i32 {
    {
        let p = Point::new(3, 4);
        p.x - p.y
    }
}
fn f50() -> i32 {
    let mut p = Point::new(1, 1);
    p.x = 9;
    p.grow(3);
    p.x + p.y
}
fn f51() -> bool {
    !(1 == 2) && "a" < "b" || false
}
fn f52() -> bool {
    matches!(PORT, 80 | 81)
}
fn f53() -> bool {
    Level::High as i32 == 5
}
fn f54() -> bool {
    Level::Low == Level::default()
}
fn f55() -> i32 {
    Level::High as i32
}
fn f56() -> u8 {
    Some(3u8).map(|x| x * 2).unwrap_or_default()
}
fn f57() -> u8 {
    None.unwrap_or(9)
}
fn f58() -> u8 {
    let x: Option<u8> = None;
    x.unwrap_or_default()
}
fn f59() -> u32 {
    let Some(x) = Some(4u32) else { return 0 };
    x
}
fn f60() -> u32 {
    if let Some(x) = LOOKUP.first()
        && *x > 1
    {
        *x
    } else {
        11
    }
}
fn f61() -> i32 {
    [3, 1, 2].iter().max().copied().unwrap()
}
fn f62() -> i32 {
    vec![1, 2, 3].iter().map(|x| x * x).filter(|x| *x > 1).sum()
}
fn f63() -> usize {
    "a,b,,c".split(',').filter(|it| !it.is_empty()).count()
}
fn f64() -> i32 {
    generic(7)
}
fn f65() -> u8 {
    generic::<u8>(7)
}
fn f66() -> i64 {
    made::<i64>()
}
fn f67() -> i64 {
    <i64 as Default>::default() + i64::MAX
}
fn f68() -> u16 {
    <Point as Named>::NUMBER
}
fn f69() -> u16 {
    Point::NUMBER + Point::other()
}
fn f70() -> char {
    'x'
}
fn f71() -> char {
    'a'.to_ascii_uppercase()
}
fn f72() -> f64 {
    std::f64::consts::PI
}
fn f73() -> u32 {
    u32::MAX
}
fn f74() -> i64 {
    i64::MIN
}
fn f75() -> u32 {
    STATIC
}
fn f76() -> u32 {
    nested::deep::VALUE
}
fn f77() -> i32 {
    'out: loop {
        loop {
            break 'out 5;
        }
    }
}
fn f78() -> i32 {
    let x = {
        let y = 2;
        y * 3
    };
    x
}
fn f79() -> i32 {
    fold_all(&[1, 2, 3])
}
fn f80() -> u32 {
    u32::BITS
}
fn f81() -> u8 {
    b'a'
}
fn f82() -> u32 {
    'a' as u32
}
